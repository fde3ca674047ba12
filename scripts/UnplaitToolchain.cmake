# cmake -DCMAKE_TOOLCHAIN_FILE=.../lib/cmake/Unplait/UnplaitToolchain.cmake: build a project with unplait's compilers.
get_filename_component(_unplait_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(EXISTS "${CMAKE_CURRENT_LIST_DIR}/../build/unplait") # not installed: the source tree after make
	get_filename_component(_unplait_bin "${CMAKE_CURRENT_LIST_DIR}/../build" ABSOLUTE)
else()
	set(_unplait_bin "${_unplait_prefix}/bin")
endif()
set(CMAKE_C_COMPILER "${_unplait_bin}/unplait-cc")
set(CMAKE_CXX_COMPILER "${_unplait_bin}/unplait-c++")
