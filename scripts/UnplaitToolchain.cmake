# cmake -DCMAKE_TOOLCHAIN_FILE=.../lib/cmake/Unplait/UnplaitToolchain.cmake: build a project with unplait's compilers.
get_filename_component(_unplait_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(CMAKE_C_COMPILER "${_unplait_prefix}/bin/unplait-cc")
set(CMAKE_CXX_COMPILER "${_unplait_prefix}/bin/unplait-c++")
