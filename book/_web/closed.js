{
    const answer = document.currentScript.parentElement;
    const question = answer.previousElementSibling;
    let kept = null;
    try {
        kept = localStorage.getItem(`course:predict/${question.dataset.key}`);
    } catch {}
    if (location.protocol !== "file:") {
        question.dataset.state = kept ? "open" : "closed";
        question.toggleAttribute("data-skipped", kept === '{"guess":null}');
        if (!kept) answer.setAttribute("hidden", "until-found");
    }
}
