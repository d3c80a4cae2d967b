// The displays of the progress of long work. The caller that starts the work owns both.
#pragma once

namespace ibd {

class OverallProgress;
class TerminalLine;

struct ProgressTargets {
    TerminalLine* line = nullptr;       //!< null: no line is drawn
    OverallProgress* overall = nullptr; //!< null: no overall figure
};

} // namespace ibd
