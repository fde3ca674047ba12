# GoogleTest through CMake, with its own tests
system="CMake"
needs="cmake"
configure() { cmake_configure -Dgtest_build_tests=ON -DBUILD_GMOCK=OFF -DCMAKE_CXX_STANDARD=14; }
build() { cmake --build out -j2 --target gtest_stress_test --target gtest_unittest; }
program=out/googletest/gtest_unittest
smoke() { target "$prog" --gtest_brief=1 && target "$(dirname "$prog")/gtest_stress_test" --gtest_brief=1; }
