# find_package(Unplait) gives:
#   unplait_discover_tests(target [TIME seconds] [FILTER pattern...] [ARGS arg...] [VARIANTS control|few|all])
#       Every test of a test program (GoogleTest, Catch2, doctest, Check ...; else the program itself)
#       becomes a ctest of its own, "unplait.NAME": many schedules instead of one.
#       TIME is what each of them may take (10). The program is linked for hunting alone (VARIANTS control).
#   unplait_add_hunt(NAME test COMMAND prog [args...] [RUNS n])
#       one ctest that hunts for failing schedules of one command
#   UNPLAIT_EXECUTABLE, UNPLAIT_CC, UNPLAIT_CXX   the tool and its compilers
#   Unplait::tsan             link this from targets compiled with -fsanitize=thread by another compiler
#
# Configure with CC=unplait-cc CXX=unplait-c++ (or UnplaitToolchain.cmake, beside this file) in a build folder
# of its own. Programs that other compilers built are hunted too, but only their synchronisation is seen.
get_filename_component(_unplait_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(EXISTS "${CMAKE_CURRENT_LIST_DIR}/../build/unplait") # not installed: the source tree after make
	get_filename_component(_unplait_bin "${CMAKE_CURRENT_LIST_DIR}/../build" ABSOLUTE)
	set(_unplait_lib "${_unplait_bin}")
else()
	set(_unplait_bin "${_unplait_prefix}/bin")
	set(_unplait_lib "${_unplait_prefix}/lib/unplait")
endif()
set(UNPLAIT_EXECUTABLE "${_unplait_bin}/unplait")
set(UNPLAIT_CC "${_unplait_bin}/unplait-cc")
set(UNPLAIT_CXX "${_unplait_bin}/unplait-c++")
set(_UNPLAIT_ADD_TESTS "${CMAKE_CURRENT_LIST_DIR}/UnplaitAddTests.cmake")

if(NOT TARGET Unplait::tsan)
	add_library(Unplait::tsan INTERFACE IMPORTED)
	set_target_properties(Unplait::tsan PROPERTIES
		INTERFACE_COMPILE_OPTIONS "-fsanitize=thread"
		INTERFACE_LINK_LIBRARIES "${_unplait_lib}/libplait.a;pthread;dl")
endif()

function(unplait_add_hunt)
	cmake_parse_arguments(H "" "NAME;RUNS" "COMMAND" ${ARGN})
	if(NOT H_RUNS)
		set(H_RUNS 1000)
	endif()
	add_test(NAME ${H_NAME}
		COMMAND ${UNPLAIT_EXECUTABLE} hunt --runs ${H_RUNS} -o ${H_NAME}.plait -- ${H_COMMAND})
endfunction()

# After each link the program is asked for its tests; ctest reads the list that is written then.
function(unplait_discover_tests target)
	cmake_parse_arguments(D "" "TIME;VARIANTS" "FILTER;ARGS" ${ARGN})
	if(NOT D_TIME)
		set(D_TIME 10)
	endif()
	if(NOT D_VARIANTS)
		set(D_VARIANTS control)
	endif()
	set(list "${CMAKE_CURRENT_BINARY_DIR}/${target}-unplait-tests.cmake")
	set_property(TARGET ${target} PROPERTY RULE_LAUNCH_LINK
		"\"${CMAKE_COMMAND}\" -E env UNPLAIT_VARIANTS=${D_VARIANTS}")
	add_custom_command(TARGET ${target} POST_BUILD BYPRODUCTS "${list}"
		COMMAND "${CMAKE_COMMAND}" "-DUNPLAIT=${UNPLAIT_EXECUTABLE}" "-DPROGRAM=$<TARGET_FILE:${target}>"
			"-DLIST=${list}" "-DTIME=${D_TIME}" "-DFILTER=${D_FILTER}" "-DARGS=${D_ARGS}"
			"-DFOLDER=${CMAKE_CURRENT_BINARY_DIR}" -P "${_UNPLAIT_ADD_TESTS}"
		VERBATIM)
	set(once "${CMAKE_CURRENT_BINARY_DIR}/${target}-unplait-include.cmake")
	file(WRITE "${once}" "if(EXISTS \"${list}\")\n  include(\"${list}\")\nelse()\n  add_test(unplait.${target}_NOT_BUILT unplait.${target}_NOT_BUILT)\nendif()\n")
	set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${once}")
endfunction()
set(Unplait_FOUND TRUE)
