# find_package(Unplait) gives:
#   UNPLAIT_CC, UNPLAIT_CXX   the compiler drivers, for -DCMAKE_C_COMPILER=... on a fresh build folder
#                             (or -DCMAKE_TOOLCHAIN_FILE=.../UnplaitToolchain.cmake, which lies beside this file)
#   UNPLAIT_EXECUTABLE        the tool itself
#   unplait_add_hunt(NAME <test> COMMAND prog [args...] [RUNS n])
#                             a ctest that hunts for failing schedules of a program built with them
#   Unplait::tsan             link this from targets compiled with -fsanitize=thread by another compiler
get_filename_component(_unplait_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(UNPLAIT_EXECUTABLE "${_unplait_prefix}/bin/unplait")
set(UNPLAIT_CC "${_unplait_prefix}/bin/unplait-cc")
set(UNPLAIT_CXX "${_unplait_prefix}/bin/unplait-c++")

if(NOT TARGET Unplait::tsan)
	add_library(Unplait::tsan INTERFACE IMPORTED)
	set_target_properties(Unplait::tsan PROPERTIES
		INTERFACE_COMPILE_OPTIONS "-fsanitize=thread"
		INTERFACE_LINK_LIBRARIES "${_unplait_prefix}/lib/unplait/libplait.a;pthread;dl")
endif()

function(unplait_add_hunt)
	cmake_parse_arguments(H "" "NAME;RUNS" "COMMAND" ${ARGN})
	if(NOT H_RUNS)
		set(H_RUNS 1000)
	endif()
	add_test(NAME ${H_NAME}
		COMMAND ${UNPLAIT_EXECUTABLE} hunt --runs ${H_RUNS} -o ${H_NAME}.plait -- ${H_COMMAND})
endfunction()
set(Unplait_FOUND TRUE)
