// Where long work reports how far it is. Whoever starts the work owns both.
#pragma once

namespace ibd {

class OverallProgress;
class TerminalLine;

struct ProgressTargets {
    TerminalLine* line = nullptr;       //!< where a line is drawn; null: nowhere
    OverallProgress* overall = nullptr; //!< the figure for all steps; null: none
};

} // namespace ibd
