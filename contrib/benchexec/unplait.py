# BenchExec's tool-info module for unplait: copy it into benchexec/tools, or give its path to
# `benchexec --tool`. It runs unplait-verify, which lies beside it (or is in $PATH).
import benchexec.result as result
import benchexec.tools.template


class Tool(benchexec.tools.template.BaseTool2):
    """
    Tool info for unplait: schedules of concurrent C programs, run natively.
    "false" comes with a witness that was followed natively; "true" only when every schedule was
    explored and the program has no inputs.
    """

    def executable(self, tool_locator):
        return tool_locator.find_executable("unplait-verify")

    def name(self):
        return "unplait"

    def version(self, executable):
        return self._version_from_tool(executable)

    def cmdline(self, executable, options, task, rlimits):
        command = [executable]
        if task.property_file:
            command += ["--property", task.property_file]
        if isinstance(task.options, dict) and task.options.get("data_model"):
            command += ["--data-model", task.options["data_model"]]
        limit = rlimits.cputime or rlimits.walltime
        if limit:
            command += ["--time", str(max(1, limit * 8 // 10))]
        return command + list(options) + list(task.input_files_or_identifier)

    def determine_result(self, run):
        for line in reversed(run.output):
            if line.startswith("verdict: "):
                return self.verdict(line[len("verdict: "):].strip())
        return result.RESULT_ERROR

    @staticmethod
    def verdict(text):
        if text == "TRUE":
            return result.RESULT_TRUE_PROP
        if text.startswith("FALSE("):
            return result.RESULT_FALSE_PROP + text[len("FALSE"):]
        return result.RESULT_UNKNOWN
