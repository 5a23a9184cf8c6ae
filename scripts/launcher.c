// bin/heed of the relocatable tarball (scripts/make-packages): starts lib/heed with the C library and the other
// libraries beside it, whatever the system has. Linked statically, since it must run where there is no library at all.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

// The folder above the one of this program, "" for the root of the file system.
static char* prefix(void) {
  static char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length <= 0) {  // no /proc: as it was started
    if (realpath((const char*)getauxval(AT_EXECFN), path) == NULL) return NULL;
  } else {
    path[length] = '\0';
  }
  for (int levels = 0; levels < 2; ++levels) {
    char* slash = strrchr(path, '/');
    if (slash == NULL) return NULL;
    *slash = '\0';
  }
  return path;
}

int main(int count, char** words) {
  const char* folder = prefix();
  if (folder == NULL || strlen(folder) > 4000) {
    fputs("heed: cannot find the folder of this program\n", stderr);
    return 1;
  }
  if (strchr(folder, ':') != NULL) {  // it separates the parts of --library-path
    fprintf(stderr, "heed: cannot run in '%s': put it into a folder without a colon in its path\n", folder);
    return 1;
  }
  static char loader[4096], libraries[4096], program[4096], models[4096];
  snprintf(loader, sizeof loader, "%s/lib/ld.so", folder);
  snprintf(libraries, sizeof libraries, "%s/lib", folder);
  snprintf(program, sizeof program, "%s/lib/heed", folder);
  snprintf(models, sizeof models, "%s/share/heed/models", folder);
  char** arguments = calloc((size_t)count + 8, sizeof *arguments);
  if (arguments == NULL) return 1;
  int at = 0;
  arguments[at++] = loader;
  arguments[at++] = "--argv0";
  arguments[at++] = words[0];
  arguments[at++] = "--library-path";
  arguments[at++] = libraries;
  arguments[at++] = program;
  for (int n = 1; n < count; ++n) arguments[at++] = words[n];
  setenv("HEED_MODELS", models, 0);
  execv(loader, arguments);
  perror("heed: cannot start its lib/ld.so");
  return 1;
}
