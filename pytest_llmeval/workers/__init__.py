"""Workers on other machines: one engine in the main process, tests and scoring elsewhere.

::

    main process              broker (a child of it)            node
    pytest, xdist, engine     one for the run                   supervisor, one for each worker
      execnet ── relay ──unix── connection ──── TCP or pipes ──── connection ── pytest's worker
                 (one each)     authenticated frames, heartbeats

The broker has workers started: by Ray, or by a command such as ``srun`` or ``docker run``. A relay
is the process that execnet starts for a worker; it copies its standard streams to and from the
broker. A supervisor stands beside each worker, ends it when the broker is lost, and reports how it
ended.
"""
