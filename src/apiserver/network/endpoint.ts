/** The host and port that a connection goes to. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
}
