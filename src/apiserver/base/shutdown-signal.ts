/** Aborts after the server's last request; timers, watches and connections stop then. */
export type ShutdownSignal = AbortSignal;

export const ShutdownSignal = Symbol.for('kubenest.ShutdownSignal');
