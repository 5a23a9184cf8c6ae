#include "base/files/directory_listing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <system_error>

#include "heed/error.h"
#include "test_folder.h"

namespace heed {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(DirectoryListing, NamesAreSorted) {
  TestFolder folder;
  for (const char* name : {"b", "a", ".hidden", "C"}) folder.write(name, "");
  std::error_code error = std::make_error_code(std::errc::io_error);
  EXPECT_THAT(names_in(folder.path(), error), ElementsAre(".hidden", "C", "a", "b"));
  EXPECT_FALSE(error);
}

TEST(DirectoryListing, WhatCannotBeListedIsAnError) {
  TestFolder folder;
  std::error_code error;
  EXPECT_THAT(names_in(folder.path("missing"), error), IsEmpty());
  EXPECT_EQ(error, std::errc::no_such_file_or_directory);
  try {
    names_in(folder.write("file", ""));
    ADD_FAILURE() << "a file was listed";
  } catch (const Error& caught) {
    EXPECT_EQ(caught.kind(), ErrorKind::kFile);
    EXPECT_THAT(caught.what(), HasSubstr("file': Not a directory"));
  }
}

}  // namespace
}  // namespace heed
