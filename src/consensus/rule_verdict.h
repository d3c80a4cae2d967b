// RuleVerdict: the result of a check of rules that can fail for another reason than a rule.
#pragma once

#include "consensus/rule_result.h"
#include "util/result.h"

namespace ibd {

/** The verdict of a check that reads the disk or starts threads, or the error that prevented it. */
using RuleVerdict = Result<RuleResult>;

} // namespace ibd
