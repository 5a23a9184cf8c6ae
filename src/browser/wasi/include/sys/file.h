// flock() is in missing_posix.h.
#pragma once
