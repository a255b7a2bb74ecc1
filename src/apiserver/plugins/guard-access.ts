import { isPromise } from 'node:util/types';
import { isJsonObject } from '#apimachinery/patch/own-property';
import { deepCopy } from '#apimachinery/runtime/copy';
import { plainCopySteps } from '#apimachinery/runtime/plain-data';
import { atOnce } from '#apimachinery/runtime/steps';
import type { Authenticator } from '#apiserver/authentication/authenticator';
import type { AuthorizationResult, Authorizer, UserRules } from '#apiserver/authorization/authorizer';
import type { AuthorizerPluginOptions } from '#apiserver/authorization/authorizer-plugin';
import type { UserInfo } from '#apiserver/request/user-info';
import type { LoadedContribution } from './loaded-contribution.ts';
import { type PluginFailures, type PluginName, pluginSubject, reasonOf } from './plugin-failures.ts';
import { runnerOf } from './plugin-origin.ts';
import { TimeoutError, within } from './within.ts';

/** The parts of a contribution that its guard needs. */
export type Guarded = Pick<LoadedContribution, 'described' | 'guard' | 'origin'>;

/** A plugin returned a value of the wrong shape. The message continues a sentence about the plugin. */
class ShapeError extends Error {}

/**
 * Limits the duration of a package's authenticator, checks the user that it returns, and removes its credential headers from requests that
 * it authenticates. A timeout or a malformed user is an authentication failure, unless another authenticator accepts the credentials.
 */
export function guardAuthenticator(
  authenticator: Authenticator,
  { described, guard, origin }: Guarded,
  failures: PluginFailures,
): Authenticator {
  const { name } = described.options;
  const plugin: PluginName = { sort: 'authenticator', name, package: origin?.package };
  const run = runnerOf(origin);
  return {
    name,
    authenticate(credentials) {
      const answer: unknown = run(() => authenticator.authenticate(credentials));
      return isPromise(answer) ? within(answer, guard.timeoutMs).then(accept, fail) : accept(answer);

      function accept(found: unknown): UserInfo | undefined {
        const user = checked(found);
        if (user) for (const header of authenticator.credentialHeaders ?? []) delete credentials.headers[header];
        return user;
      }
    },
  };

  /** Throwing is how an authenticator rejects credentials, so only timeouts and malformed users are failures of the plugin. */
  function fail(error: unknown): never {
    if (error instanceof TimeoutError) throw failureOf(plugin, error, failures);
    throw error;
  }

  function checked(found: unknown): UserInfo | undefined {
    try {
      return userOf(found);
    } catch (error) {
      throw failureOf(plugin, error instanceof ShapeError ? error : new ShapeError('returned a user that cannot be read'), failures);
    }
  }
}

/**
 * Limits the duration of a package's authorizer, and checks its decisions. An authorizer that throws, times out or returns anything but a
 * decision has no opinion, or denies the request if its decorator has `failurePolicy: 'Deny'`; the reason names it.
 */
export function guardAuthorizer(authorizer: Authorizer, { described, guard, origin }: Guarded, failures: PluginFailures): Authorizer {
  const { name, failurePolicy = 'NoOpinion' } = described.options as AuthorizerPluginOptions;
  const plugin: PluginName = { sort: 'authorizer', name, package: origin?.package };
  const run = runnerOf(origin);
  const failed = (error: unknown): AuthorizationResult => ({ decision: failurePolicy, reason: failureOf(plugin, error, failures).message });
  return {
    name,
    authorize(attributes) {
      try {
        // A copy, because the user is shared with caches.
        const answer: unknown = run(() => authorizer.authorize(deepCopy(attributes)));
        return isPromise(answer) ? within(answer, guard.timeoutMs).then(resultOf).catch(failed) : resultOf(answer);
      } catch (error) {
        return failed(error);
      }
    },
    ...(authorizer.rulesFor && {
      async rulesFor(user, namespace) {
        try {
          const rules = run(() => authorizer.rulesFor!(deepCopy(user), namespace));
          return rulesOf(await within(Promise.resolve(rules), guard.timeoutMs));
        } catch (error) {
          return { resourceRules: [], nonResourceRules: [], incomplete: true, errors: [failureOf(plugin, error, failures).message] };
        }
      },
    }),
  };
}

/**
 * Records a failure, and returns the error that names the plugin. Clients may see its message, so the message of the cause is only in the
 * log.
 */
function failureOf(plugin: PluginName, error: unknown, failures: PluginFailures): Error {
  failures.record(plugin, error instanceof ShapeError ? 'return' : reasonOf(error), error);
  const why = error instanceof ShapeError ? error.message : error instanceof TimeoutError ? `gave ${error.message}` : 'failed';
  return new Error(`${pluginSubject(plugin)} ${why}`, { cause: error });
}

/** Returns a copy, since caches keep the user. Throws ShapeError if the value is neither a user nor undefined. */
function userOf(found: unknown): UserInfo | undefined {
  if (found === undefined || found === null) return undefined;
  if (!isJsonObject(found)) throw new ShapeError('returned a user that is not an object');
  // Each member is read once, so that accessors cannot change what was checked.
  const { name, uid } = found;
  const groups = copyOf(found['groups']);
  const audiences = copyOf(found['audiences']);
  const given = found['extra'];
  const extra = isJsonObject(given) ? Object.fromEntries(Object.entries(given).map(([key, list]) => [key, copyOf(list)])) : given;
  const isUser =
    typeof name === 'string' &&
    name !== '' &&
    (uid === undefined || typeof uid === 'string') &&
    isStrings(groups) &&
    (audiences === undefined || isStrings(audiences)) &&
    (extra === undefined || (isJsonObject(extra) && Object.values(extra).every(isStrings)));
  if (!isUser) throw new ShapeError('returned a malformed user: expected { name, groups, uid?, extra?, audiences? }');
  return {
    name,
    groups,
    ...(uid !== undefined && { uid: uid as string }),
    ...(extra !== undefined && { extra: extra as Record<string, string[]> }),
    ...(audiences !== undefined && { audiences }),
  };
}

function copyOf(list: unknown): unknown {
  return Array.isArray(list) ? [...(list as unknown[])] : list;
}

/** Maximum length of a reason, which clients, traces and audit events get. */
const maxReasonLength = 16_384;

const decisions: ReadonlySet<unknown> = new Set(['Allow', 'Deny', 'NoOpinion']);

function resultOf(found: unknown): AuthorizationResult {
  const { decision, reason = '' } = isJsonObject(found) ? found : {};
  if (!decisions.has(decision) || typeof reason !== 'string')
    throw new ShapeError("returned no decision: expected { decision: 'Allow' | 'Deny' | 'NoOpinion', reason }");
  if (reason.length > maxReasonLength) throw new ShapeError(`returned a reason of more than ${maxReasonLength} characters`);
  return { decision: decision as AuthorizationResult['decision'], reason };
}

function rulesOf(found: unknown): UserRules {
  const { resourceRules, nonResourceRules, incomplete, errors } = isJsonObject(found) ? found : {};
  // A copy, whose members do not change after the check.
  const rules = atOnce(plainCopySteps({ resourceRules, nonResourceRules, incomplete, errors })) as unknown as UserRules;
  const isRules =
    isRuleList(rules.resourceRules) &&
    isRuleList(rules.nonResourceRules) &&
    typeof rules.incomplete === 'boolean' &&
    isStrings(rules.errors);
  if (!isRules) throw new ShapeError('returned malformed rules: expected { resourceRules, nonResourceRules, incomplete, errors }');
  return rules;
}

function isRuleList(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every(
      (rule) =>
        isJsonObject(rule) && isStrings(rule['verbs']) && Object.values(rule).every((list) => list === undefined || isStrings(list)),
    )
  );
}

function isStrings(value: unknown): value is readonly string[] {
  // A copy has no holes, which `every` would skip.
  return Array.isArray(value) && [...value].every((item) => typeof item === 'string');
}
