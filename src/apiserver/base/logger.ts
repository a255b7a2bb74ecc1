/** Structured logger of the server. `fields` are logged with the message and must not contain secrets. */
export interface Logger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export const Logger = Symbol.for('kubenest.Logger');
