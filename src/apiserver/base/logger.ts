/** The server's log. `fields` are told beside the message; never a secret in them. */
export interface Logger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export const Logger = Symbol.for('kubenest.Logger');
