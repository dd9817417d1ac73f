// Hash-consed formulas, and their normal forms.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_set>
#include <vector>

#include "formula.hpp"

namespace epi {

struct Formula {
    Op op;
    std::uint32_t fluent = 0;  // for Op::Fluent
    std::vector<std::uint32_t> agents;
    std::vector<FormulaId> children;

    bool operator==(const Formula&) const = default;
};

// Equal formulas have the same number. Constructors fold constants, flatten nested conjunctions and disjunctions, and
// remove duplicates and double negations, as `epigym/task/formula.py` does.
class FormulaStore {
public:
    // The formulas keep their numbers. Throws std::invalid_argument when two of them are equal.
    explicit FormulaStore(const Formulas& formulas);
    FormulaStore(const FormulaStore&) = delete;
    FormulaStore& operator=(const FormulaStore&) = delete;

    const Formula& operator[](FormulaId id) const { return formulas_[id]; }  // a stable reference
    std::uint32_t depth(FormulaId id) const { return derived_[id].depth; }
    // The child of a negation; any other formula itself.
    FormulaId strip_negation(FormulaId id) const;
    std::vector<FormulaId> conjuncts(FormulaId id) const;

    FormulaId constant(bool value) const { return constants_[value]; }
    FormulaId literal(std::uint32_t fluent, bool value);
    FormulaId negation(FormulaId id);
    std::vector<FormulaId> negations(const std::vector<FormulaId>& ids);
    FormulaId conjunction(const std::vector<FormulaId>& parts) { return junction(Op::And, parts); }
    FormulaId disjunction(const std::vector<FormulaId>& parts) { return junction(Op::Or, parts); }
    FormulaId believes(std::uint32_t agent, FormulaId id);
    FormulaId considers_possible(std::uint32_t agent, FormulaId id) {
        return negation(believes(agent, negation(id)));
    }
    // The belief `modality` (B, E or C) in another formula, which is no conjunction. E becomes a conjunction of B; a
    // formula under Op::Actually is returned as it is, because it does not depend on the believer.
    FormulaId apply_belief(FormulaId modality, FormulaId id);

    // Moves negations to fluents and modalities.
    FormulaId negation_normal_form(FormulaId id) { return image(Form::Negation, id, false); }
    // The normal form of a formula or of its negation: negation normal form in which B and C distribute over
    // conjunctions and E is a conjunction of B. Formulas under Op::Actually hold everywhere: B, C and E before it are
    // dropped, and then Op::Actually itself.
    FormulaId normal_form(FormulaId id, bool negated = false);

    // The subformulas of `roots`, children before parents; renumbers `roots` accordingly.
    Formulas pack(std::vector<FormulaId>& roots) const;

private:
    enum class Form : std::uint8_t { Negation, Distributed };
    static constexpr FormulaId kUnknown = ~FormulaId{0};
    struct Derived {
        std::uint32_t depth = 0;
        bool has_actually = false;
        // Per form, of the formula and of its negation.
        std::array<std::array<FormulaId, 2>, 2> images{{{kUnknown, kUnknown}, {kUnknown, kUnknown}}};
        FormulaId without_actually = kUnknown;
    };
    struct Hash {
        const std::deque<Formula>* formulas;
        std::size_t operator()(FormulaId id) const;
    };
    struct Equal {
        const std::deque<Formula>* formulas;
        bool operator()(FormulaId one, FormulaId other) const { return (*formulas)[one] == (*formulas)[other]; }
    };

    FormulaId intern(Formula formula);
    FormulaId junction(Op op, const std::vector<FormulaId>& parts);
    FormulaId replace_child(FormulaId modality, FormulaId child);
    FormulaId image(Form form, FormulaId id, bool negated);
    FormulaId build_image(Form form, FormulaId id, bool negated);
    FormulaId distribute(FormulaId modality, FormulaId id);
    FormulaId drop_actually(FormulaId id);

    std::deque<Formula> formulas_;
    std::vector<Derived> derived_;  // per formula
    std::unordered_set<FormulaId, Hash, Equal> numbers_;
    std::array<FormulaId, 2> constants_;
    std::vector<std::uint32_t> marks_;  // per formula: the last junction with it as a part
    std::uint32_t junctions_ = 0;
};

}  // namespace epi
