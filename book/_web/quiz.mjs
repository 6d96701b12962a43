// @ts-check
// Gives each quiz a button and live feedback. The reasons come from its answer key, which stays
// hidden until the reader finds the right choice.

for (const quiz of document.querySelectorAll("fieldset.quiz")) {
    const key = quiz.querySelector("details.quiz-key");
    if (!(key instanceof HTMLElement)) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "quiz-check";
    button.textContent = "Check my answer";
    const feedback = document.createElement("div");
    feedback.className = "quiz-feedback";
    feedback.setAttribute("role", "status");
    key.before(button, feedback);
    key.hidden = true;

    quiz.addEventListener("change", () => {
        feedback.replaceChildren();
        delete feedback.dataset.verdict;
    });

    button.addEventListener("click", () => {
        const chosen = quiz.querySelector("input:checked");
        if (!(chosen instanceof HTMLInputElement)) {
            feedback.textContent = "Choose an answer first.";
            return;
        }
        const reason = key.querySelector(`[data-choice="${chosen.value}"]`);
        if (!(reason instanceof HTMLElement)) return;
        feedback.dataset.verdict = reason.dataset.verdict;
        feedback.replaceChildren(...Array.from(reason.childNodes, (node) => node.cloneNode(true)));
        if (reason.dataset.verdict !== "right") return;
        key.hidden = false;
        quiz.dispatchEvent(new Event("course:right", { bubbles: true }));
    });
}
