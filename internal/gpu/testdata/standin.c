// A stand-in for libcuda.so.1 with the prototypes of cuda.h: memory is the
// host's, kernels are the library named by STANDIN_KERNELS, with blocks of fibers, of
// which 4 wait for each other. It refuses arguments that a driver would, and copies to the
// device in part as late as a driver may, so that the calls of the Go side can be
// tested without a card. 16, 32 and 48 are its context, stream and module. With
// STANDIN_FAIL="launch 719 40" the 40th launch and all later launches, waits and releases
// fail with error 719, with "alloc 2 3" the third allocation of memory alone;
// STANDIN_COUNT names a file that gets the number of launches.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;

#define CONTEXT ((void *)16)
#define STREAM ((void *)32)
#define MODULE ((void *)48)
#define WANT(condition) do { if (!(condition)) return 1; } while (0)

// copies that are half done: every other piece of 64 bytes is missing
static struct { char *to; const char *from; size_t bytes; } copies[256];
static int waiting, downloads;

static void pieces(int i, size_t first) {
    for (size_t at = first; at < copies[i].bytes; at += 128)
        memcpy(copies[i].to + at, copies[i].from + at, copies[i].bytes - at < 64 ? copies[i].bytes - at : 64);
}

static void copy(void) {
    for (int i = 0; i < waiting; i++) pieces(i, 64);
    waiting = downloads = 0;
}

static CUresult begin(void *to, const void *from, size_t n, void *s) {
    WANT(s == STREAM && n > 0);
    if (waiting == sizeof copies / sizeof copies[0]) copy();
    copies[waiting].to = to;
    copies[waiting].from = from;
    copies[waiting].bytes = n;
    pieces(waiting++, 0);
    return 0;
}

static int launches, allocations, broken;

// fails reports whether the n-th call of a kind is the one that fails.
static int fails(const char *kind, int n) {
    const char *plan = getenv("STANDIN_FAIL");
    char of[16];
    int error, at;
    if (!plan || sscanf(plan, "%15s %d %d", of, &error, &at) != 3 || strcmp(of, kind)) return 0;
    return n == at ? error : 0;
}

CUresult cuInit(unsigned flags) { return flags != 0; }
CUresult cuGetErrorName(CUresult e, const char **text) {
    *text = e == 1 ? "CUDA_ERROR_INVALID_VALUE" : e == 214 ? "CUDA_ERROR_ECC_UNCORRECTABLE" : e == 218 ? "CUDA_ERROR_INVALID_PTX" : e == 719 ? "CUDA_ERROR_LAUNCH_FAILED" : "CUDA_ERROR_UNKNOWN";
    return 0;
}
CUresult cuGetErrorString(CUresult e, const char **text) { (void)e; *text = "refused by the stand-in"; return 0; }
CUresult cuDeviceGetCount(int *n) { *n = 1; return 0; }
CUresult cuDeviceGet(CUdevice *d, int i) { WANT(i == 0); *d = 0; return 0; }
CUresult cuDeviceGetName(char *s, int n, CUdevice d) { WANT(d == 0 && n > 20); strcpy(s, "stand-in"); return 0; }
CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice d) { WANT(d == 0); *bytes = (size_t)5 << 30; return 0; }
CUresult cuDeviceGetAttribute(int *v, int a, CUdevice d) {
    WANT(d == 0 && (a == 16 || a == 36 || a == 37 || a == 75 || a == 76 || a == 95));
    *v = a == 75 ? 9 : a != 76;
    return 0;
}
CUresult cuDevicePrimaryCtxRetain(void **c, CUdevice d) { WANT(d == 0); *c = CONTEXT; return 0; }
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice d) { WANT(d == 0); return 0; }
CUresult cuCtxSetCurrent(void *c) { WANT(c == CONTEXT); return 0; }
CUresult cuMemGetInfo_v2(size_t *unused, size_t *total) { *unused = (size_t)2 << 30; *total = (size_t)5 << 30; return 0; }
CUresult cuMemAlloc_v2(CUdeviceptr *p, size_t n) {
    WANT(n > 0);
    int error = fails("alloc", ++allocations);
    if (error) return error;
    *p = (CUdeviceptr)malloc(n); memset((void *)*p, 255, n);
    return 0;
}
CUresult cuMemFree_v2(CUdeviceptr p) { copy(); free((void *)p); return broken; }
CUresult cuMemHostAlloc(void **p, size_t n, unsigned flags) { WANT(n > 0 && flags == 0); *p = malloc(n); return 0; }
CUresult cuMemFreeHost(void *p) { copy(); free(p); return 0; }
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t n, void *s) { if (downloads) copy(); return begin((void *)to, from, n, s); }
CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t n, void *s) { copy(); downloads = 1; return begin(to, (void *)from, n, s); }
CUresult cuStreamCreate(void **s, unsigned flags) { WANT(flags <= 1); *s = STREAM; return 0; }
CUresult cuStreamSynchronize(void *s) { WANT(s == STREAM); copy(); return broken; }
CUresult cuStreamDestroy_v2(void *s) { WANT(s == STREAM); return broken; }
CUresult cuModuleLoadDataEx(void **m, const void *image, unsigned n, int *option, void **value) {
    WANT(strstr(image, ".target sm_70") && n == 2 && option[0] == 5 && option[1] == 6 && value[0] && (size_t)value[1] == 4096);
    if (getenv("STANDIN_KERNELS")[0] == 0) return strcpy(value[0], "line 7: what ptxas says\n"), 218;
    *m = MODULE;
    return 0;
}

CUresult cuModuleUnload(void *m) { WANT(m == MODULE); return broken; }

CUresult cuModuleGetFunction(void **f, void *m, const char *name) {
    WANT(m == MODULE);
    *f = dlsym(dlopen(getenv("STANDIN_KERNELS"), RTLD_NOW), name);
    return *f ? 0 : 500;
}

CUresult cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                        void *s, void **arguments, void **extra) {
    WANT(gx > 0 && gy == 1 && gz == 1 && bx == 256 && by == 1 && bz == 1 && shared == 0 && s == STREAM && !extra);
    copy();
    int error = fails("launch", ++launches);
    if (error) broken = error;
    if (broken) return broken;
    if (getenv("STANDIN_COUNT")) {
        FILE *count = fopen(getenv("STANDIN_COUNT"), "w");
        fprintf(count, "%d", launches);
        fclose(count);
    }
    ((void (*)(void *, long long))f)(arguments[0], gx);
    return 0;
}

CUresult cuLaunchCooperativeKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                   void *s, void **arguments) {
    WANT(gx <= 4);
    return cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, s, arguments, 0);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, void *f, int threads, size_t shared) {
    WANT(f && threads == 256 && shared == 0);
    *n = 4;
    return 0;
}
