// FeeFilterRounder: rounds the fee rates that are sent to peers randomly up or down to steps of 10
// %: the exact rate would allow fingerprinting. Owned by TxAnnouncer, one thread.
#pragma once

#include "primitives/tx_view.h"

#include <algorithm>
#include <vector>

namespace ibd {

class FeeFilterRounder {
public:
    /** Satoshi per 1,000 virtual bytes, like all rates here. */
    static constexpr double kHighest = 1e7;
    static constexpr double kStep = 1.1;

    /** `increment`: -incrementalrelayfee. */
    explicit FeeFilterRounder(Amount increment)
    {
        m_rates.push_back(0);
        double rate = std::max(1.0, static_cast<double>(increment) / 2);
        while (rate <= kHighest) {
            m_rates.push_back(rate);
            rate *= kStep;
        }
    }

    /** The next higher step in a third of the cases, else the step below it. `chance`: random. */
    Amount Round(Amount rate, uint64_t chance) const
    {
        auto step = std::lower_bound(m_rates.begin(), m_rates.end(), static_cast<double>(rate));
        if (step == m_rates.end() || (step != m_rates.begin() && chance % 3 != 0)) --step;
        return static_cast<Amount>(*step);
    }
    Amount Highest() const { return static_cast<Amount>(m_rates.back()); }

private:
    std::vector<double> m_rates; //!< ascending
};

} // namespace ibd
