// The proof is that this program was compiled and linked; running it reports of how many headers.
#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
    const int headers = argc == 2 ? std::atoi(argv[1]) : 0;
    std::printf("%d public headers compile alone\n", headers);
    return headers > 0 ? 0 : 1;
}
