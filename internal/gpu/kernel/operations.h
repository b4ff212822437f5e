// The element-wise operations of a tape; package graph defines them.
#pragma once
#include "incomplete.h"
#include "normal.h"
#include "opcodes.h"

// evaluate is the scalar function of an element-wise operation; operands that
// it has not are ignored.
FUNCTION double evaluate(int op, double x, double y, double z) {
    switch (op) {
    case opAdd: return x + y;
    case opSub: return x - y;
    case opMul: return x * y;
    case opMulZero: return x == 0 ? 0 : x * y;
    case opDiv: return x / y;
    case opPow: return power(x, y);
    case opMin: return smaller(x, y);
    case opMax: return larger(x, y);
    case opLess: return x < y ? 1 : 0;
    case opEqual: return x == y ? 1 : 0;
    case opCopy: return x;
    case opNeg: return -x;
    case opExp: return exponential(x);
    case opLog: return logarithm(x);
    case opLog1p: return log1plus(x);
    case opExpm1: return expMinus1(x);
    case opSqrt: return squareRoot(x);
    case opSquare: return x * x;
    case opAbs: return absolute(x);
    case opSign: return x > 0 ? 1 : x < 0 ? -1 : x;
    case opReciprocal: return 1 / x;
    case opSigmoid: return sigmoid(x);
    case opLogSigmoid: return -softplus(-x);
    case opSoftplus: return softplus(x);
    case opTanh: return hyperbolicTangent(x);
    case opRelu: return larger(x, 0);
    case opGelu: return x * normalCDF(x);
    case opLgamma: return logGamma(x);
    case opDigamma: return digamma(x);
    case opTrigamma: return trigamma(x);
    case opErf: return errorFunction(x);
    case opNormalCDF: return normalCDF(x);
    case opLogNormalCDF: return logNormalCDF(x);
    case opFloor: return floorOf(x);
    case opSin: return sine(x);
    case opCos: return cosine(x);
    case opAtan: return arcTangent(x);
    case opLogGammaP: return incompleteGamma(x, y).below.v;
    case opLogGammaQ: return incompleteGamma(x, y).above.v;
    case opLogGammaPShape: return incompleteGamma(x, y).below.a;
    case opLogGammaQShape: return incompleteGamma(x, y).above.a;
    case opLogBetaI: return incompleteBeta(x, y, z).below.v;
    case opLogBetaIFirst: return incompleteBeta(x, y, z).below.a;
    case opLogBetaISecond: return incompleteBeta(x, y, z).below.b;
    case opWhere: return x != 0 ? y : z;
    }
    return nan(); // the Go side sends no other
}
