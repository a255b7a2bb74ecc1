import { pino } from 'pino';
import type { RequestContext } from '#apiserver/request/request-context';
import { rounded } from '#apiserver/request/request-trace';
import { latenciesOf } from '#apiserver/server/handler-chain';
import type { Logger } from '#apiserver/base/logger';
import type { GenericServerOptions } from '#apiserver/server/generic-server';
import { LogOutput } from './log-output.ts';

/** Log of the server: JSON lines on standard error, without secrets. */
export interface Log extends Logger {
  readonly chain: GenericServerOptions['log'];
  /** Sets the verbosity, as `--v` does. */
  setVerbosity(verbosity: number): void;
  flush(): void;
}

export const Log = Symbol('Log');

/** Verbosity (`--v`) from which each request is logged. */
const requestVerbosity = 3;

function levelOf(verbosity: number): string {
  return verbosity >= 4 ? 'debug' : verbosity >= 0 ? 'info' : 'error';
}

/** Creates a log. `verbosity`: as for `--v`; below 0, only errors are logged. `flushMs`: maximum delay of lines. */
export function newLog(verbosity: number, flushMs = 1_000): Log {
  const destination = new LogOutput();
  const logger = pino({ level: levelOf(verbosity), base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
  let logsRequests = verbosity >= requestVerbosity;
  const timer = setInterval(() => destination.flush(), flushMs).unref();
  const describe = (context: RequestContext): object => ({
    verb: context.info.verb,
    path: context.path,
    status: context.status,
    user: context.user?.name,
    auditId: context.auditId,
    client: context.exchange.peer.remoteAddress,
    userAgent: context.header('user-agent'),
  });
  return {
    chain: {
      panic: (error, context) => logger.error({ ...describe(context), err: error }, 'the request caused a panic'),
      authenticationFailed: (context, error) =>
        logger.warn({ ...describe(context), reason: (error as Error).message }, 'unable to authenticate the request'),
      get logsRequests() {
        return logsRequests;
      },
      request: (context, milliseconds) => logger.info({ ...describe(context), milliseconds }, 'HTTP'),
      slow: (context, milliseconds) =>
        logger.info({ ...describe(context), milliseconds: rounded(milliseconds), cameTo: latenciesOf(context) }, 'slow request'),
      health: (endpoint, check, error) => logger.warn({ endpoint, check, reason: (error as Error).message }, 'health check failed'),
    },
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
    setVerbosity(next) {
      logsRequests = next >= requestVerbosity;
      logger.level = levelOf(next);
    },
    flush() {
      clearInterval(timer);
      destination.flush();
    },
  };
}
