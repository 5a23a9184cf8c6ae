// For the leak sanitizer only: Fontconfig and Cairo keep their caches until the process ends, and some of
// those out of its sight. They do not grow with the number of pictures. Our own code is not excused.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libfontconfig\nleak:libcairo\n";
}
