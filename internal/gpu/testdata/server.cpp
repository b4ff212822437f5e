// The kernels as a program, so that sanitizers can watch them: it reads
// commands from standard input and answers on standard output. A command is three
// numbers of 8 bytes, its code and two arguments; server_test.go has the other end.
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <unistd.h>

typedef unsigned long long u64;

extern "C" void* d3p_alloc(u64 bytes);
extern "C" void d3p_free(void* p);
extern "C" u64 d3p_together();

enum Command { allocate, release, upload, download, launch, together, cycles };

static void receive(void* to, u64 bytes) {
    for (ssize_t n; bytes > 0; bytes -= n, to = (char*)to + n)
        if ((n = read(0, to, bytes)) <= 0) std::exit(0); // the other end is gone
}

static void send(const void* from, u64 bytes) {
    for (ssize_t n; bytes > 0; bytes -= n, from = (const char*)from + n)
        if ((n = write(1, from, bytes)) <= 0) std::exit(1);
}

int main() {
    for (;;) {
        u64 command[3], answer = 0;
        receive(command, sizeof command);
        void* at = (void*)command[1];
        u64 bytes = command[2];
        switch (command[0]) {
        case allocate:
            answer = (u64)std::memset(d3p_alloc(command[1]), 0xff, command[1]);
            break;
        case release: d3p_free(at); break;
        case upload: receive(at, bytes); break;
        case download: send(at, bytes); continue;
        case launch: { // command[1] blocks; the kernel's name and its arguments follow
            char name[16];
            receive(name, sizeof name);
            void* arguments = d3p_alloc(bytes);
            receive(arguments, bytes);
            ((void (*)(void*, u64))dlsym(RTLD_DEFAULT, name))(arguments, command[1]);
            d3p_free(arguments);
            break;
        }
        case together: answer = d3p_together(); break;
        case cycles: answer = ((u64(*)())dlsym(RTLD_DEFAULT, "d3p_cycles"))(); break; // of the last launch
        }
        send(&answer, sizeof answer);
    }
}
