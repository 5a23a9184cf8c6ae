// The command `heed`.
#include <cstdio>

int main() {
  std::puts("heed");
  return 0;
}
