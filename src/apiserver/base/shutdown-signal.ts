/** Aborts when the server has served its last request: timers, watches and connections end then. */
export type ShutdownSignal = AbortSignal;

export const ShutdownSignal = Symbol.for('kubenest.ShutdownSignal');
