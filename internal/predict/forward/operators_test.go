package forward

import (
	"testing"

	"d3p/internal/models/graph"
)

// withoutOperator are the element-wise operations that ONNX cannot compute, for which forward
// refuses a model, and those that no prediction has.
var withoutOperator = map[graph.Op]bool{
	graph.OpLgamma: true, graph.OpDigamma: true, graph.OpTrigamma: true, graph.OpLogNormalCDF: true,
	graph.OpLogGammaP: true, graph.OpLogGammaQ: true, graph.OpLogGammaPShape: true, graph.OpLogGammaQShape: true,
	graph.OpLogBetaI: true, graph.OpLogBetaIFirst: true, graph.OpLogBetaISecond: true,
	graph.OpMulZero: true, graph.OpCopy: true,
}

// Every element-wise operation has an operator of ONNX, or is listed as one without.
func TestOperatorsAreListed(t *testing.T) {
	for op := graph.OpAdd; op <= graph.OpWhere; op++ {
		if has := operators[op] != nil; has == withoutOperator[op] {
			t.Errorf("%v: in operators: %v; in withoutOperator of operators_test.go: %v", op, has, withoutOperator[op])
		}
	}
}
