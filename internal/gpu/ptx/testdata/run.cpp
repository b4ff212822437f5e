// Runs a kernel of the file that KERNELS names: run NAME BLOCKS. The kernel's parameter is the
// address of the bytes of standard input; the program writes them to standard output.
#include KERNELS

#include <dlfcn.h>
#include <unistd.h>

int main(int, char** given) {
    u8* memory = (u8*)std::malloc(1 << 20);
    ssize_t bytes = read(0, memory, 1 << 20);
    memory = (u8*)std::realloc(memory, bytes);
    ((void (*)(const void*, i64))dlsym(RTLD_DEFAULT, given[1]))(&memory, std::atoi(given[2]));
    return write(1, memory, bytes) == bytes ? 0 : 1;
}
