// The script of nbgrader's page waits for MathJax before it selects the first box. Nothing is left
// to draw here, so its wait ends at once.
window.MathJax = {
    Hub: { Startup: { signal: { Interest: (hear) => hear("End") } } },
};

// Show the grader's comment as text above the answer. nbgrader shows it as the placeholder of the
// comment box, where it is gone as soon as a person writes.
(() => {
    const begin = CommentUI.prototype.initialize;

    CommentUI.prototype.initialize = function () {
        begin.apply(this, arguments);
        this.$comment.attr("placeholder", "Your comment, in Markdown");
        const comment = this.model.get("auto_comment");
        if (!comment) {
            return;
        }
        const box = $("<div>").addClass(`autograder autograder-${standing(comment)}`);
        for (const line of comment.split("\n")) {
            box.append($("<p>").text(line));
        }
        this.$el.children(".panel-body").before(box);
    };

    /** Say whether a comment of the grader's gives all points, some, none, or names no points. */
    function standing(comment) {
        const points = /^(\d+(?:\.\d+)?) of (\d+)/.exec(comment);
        if (points === null) {
            return "unmarked";
        }
        const [score, most] = [Number(points[1]), Number(points[2])];
        return score >= most ? "full" : score > 0 ? "some" : "none";
    }
})();
