// Manifests of output files that --resume goes on with: one that is read is the same job as itself.
#include "cli/jobs/resumable/job_manifest.h"
#include "fuzz.h"
#include "json_mutator.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  return heed::fuzz([&] {
    const heed::cli::JobManifest manifest =
        heed::cli::manifest_of(heed::JsonObject::parse(heed::text_of(bytes, size), "input"));
    if (!heed::cli::difference(manifest, manifest).empty()) std::abort();
    if (!heed::cli::difference(manifest, manifest, /*other_part=*/true).empty()) std::abort();
    (void)heed::cli::gap(manifest, manifest);
  });
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* bytes, size_t size, size_t room, unsigned seed) {
  return heed::mutate_json(bytes, size, room, seed);
}
