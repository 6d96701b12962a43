"""What runs in the sandbox beside a student's code. It holds no secret: no right answer, no key.

How it works
------------

Five kinds of processes take part. Each arrow is a channel; `sandbox/` is the left-hand side.

    grader ──orders──> supervisor                 one for many submissions (warm), or for one (cold)
      │                    │ forks
      │                    ▼
      └──orders, files──> room                    one for each submission
                           │ forks, one for each run      │ forks, one for each function
                           ▼                              ▼
                         child ──requests, results──> answering process
                           │ forks, if a student wrote a test
                           ▼
                         copy                     one for each implementation that the test meets

1. The *grader* starts a supervisor, in bubblewrap or in a container (`sandbox/starting.py`,
   `sandbox/containers.py`). The supervisor's standard input is a socket to the grader. It imports
   NumPy or torch once, and never reads anything of a submission or a case (`supervisor.py`).
2. For each submission, the grader sends the supervisor one end of a new socket. The supervisor
   forks a *room*, which enters namespaces of its own (`namespaces.py`), drops its privileges, and
   installs a seccomp filter (`seccomp.py`). From then on the grader talks to the room alone.
3. An order holds two sealed files in memory: the cells, and the calls to make. Right results are
   never in them. The room forks a *child* for each order (`room.py`). The child runs the cells,
   makes the calls (`child.py`), and reports plain data on a pipe (`wire.py`). Its printed text goes
   to another pipe, which is counted and thrown away.
4. An argument that is a function lives in an *answering process*, where no student's code runs
   (`answering.py`). The child asks it over a socket, and it counts the requests.
5. A test that a student wrote is called in a *copy* of the child for each implementation, so that
   it cannot remember one while it judges the next (`turns.py`).

Who limits, and who kills:

- The kernel limits each child: address space, file sizes, open files, processes (`room.py`).
- The room watches the time, the memory and the processes of all children (`usage.py`,
  `listening.py`). When a child ends or goes over a limit, the room kills every process in its
  namespace, and the reply names the limit (`status.py`).
- The room may refuse a new process: the kernel asks it (`gate.py`). That happens where an exercise
  forbids ready-made functions, since nobody would see what runs in another process.
- The grader has a clock of its own. A room that does not reply in time is given up, and its
  supervisor is killed with everything in it (`sandbox/rooms.py`). bubblewrap ends with the grader.
- If the machine runs out of memory, the kernel kills the supervisor before the grader.

What is trusted: the grader; the supervisor and the room until a student's code has run in a child,
and afterwards too, because they share nothing with it that it can change. A child's report is not
trusted: it is read as data, checked against the agreed format and size, and compared with the right
results in the grader. A child can therefore lie only about what its own answer returned.
"""
