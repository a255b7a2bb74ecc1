// Errors that leave parts of a script early.

/** Ends the whole process: it runs without end, or until the time that the context defines. */
export class ProcessLeft extends Error {}

/** Ends the current shell, as `exit` does. */
export class ShellExit extends Error {
  constructor(readonly code: number) {
    super();
  }
}

/** Leaves a function, as `return` does. */
export class FunctionReturn extends Error {
  constructor(readonly code: number) {
    super();
  }
}

/** Leaves the iteration of a loop (`continue`), or the loop (`break`). */
export class LoopJump extends Error {
  constructor(readonly isBreak: boolean) {
    super();
  }
}
