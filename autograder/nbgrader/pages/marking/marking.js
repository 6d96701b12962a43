// The script of nbgrader's page waits for MathJax before it selects the first box. Formulas are drawn
// without MathJax here, so this stub ends the wait at once.
window.MathJax = {
    Hub: { Startup: { signal: { Interest: (callback) => callback("End") } } },
};

// Show the grader's comment as text above the answer. nbgrader shows it as the placeholder of the
// comment box, where it disappears as soon as a person types.
(() => {
    const initialize = CommentUI.prototype.initialize;

    CommentUI.prototype.initialize = function () {
        initialize.apply(this, arguments);
        this.$comment.attr("placeholder", "Your comment, in Markdown");
        const comment = this.model.get("auto_comment");
        if (!comment) {
            return;
        }
        const box = $("<div>").addClass(`autograder autograder-${status(comment)}`);
        for (const line of comment.split("\n")) {
            box.append($("<p>").text(line));
        }
        this.$el.children(".panel-body").before(box);
    };

    /** Return whether a comment by the grader gives all points, some or none, or names no points. */
    function status(comment) {
        const points = /^(\d+(?:\.\d+)?) of (\d+)/.exec(comment);
        if (points === null) {
            return "unmarked";
        }
        const [score, maximum] = [Number(points[1]), Number(points[2])];
        return score >= maximum ? "full" : score > 0 ? "some" : "none";
    }
})();
