/** Host and port of a connection's destination. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
}
