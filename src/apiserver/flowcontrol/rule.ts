import type { UserInfo } from '#apiserver/request/user-info';
import type { RequestInfo } from '#apiserver/request/request-info';
import type { KubeObject } from '#apimachinery/meta/types';

/** The fields of flowcontrol.apiserver.k8s.io/v1 that match and limit requests. */
export interface FlowSchema extends KubeObject {
  readonly spec?: {
    readonly matchingPrecedence?: number;
    readonly priorityLevelConfiguration?: { readonly name?: string };
    readonly distinguisherMethod?: { readonly type?: string };
    readonly rules?: readonly PolicyRulesWithSubjects[];
  };
}

export interface PriorityLevelConfiguration extends KubeObject {
  readonly spec?: {
    readonly type?: string;
    readonly limited?: {
      readonly nominalConcurrencyShares?: number;
      readonly lendablePercent?: number;
      readonly borrowingLimitPercent?: number;
      readonly limitResponse?: {
        readonly type?: string;
        readonly queuing?: { readonly queues?: number; readonly handSize?: number; readonly queueLengthLimit?: number };
      };
    };
    readonly exempt?: { readonly nominalConcurrencyShares?: number; readonly lendablePercent?: number };
  };
}

export interface PolicyRulesWithSubjects {
  readonly subjects?: readonly Subject[];
  readonly resourceRules?: readonly {
    readonly verbs?: readonly string[];
    readonly apiGroups?: readonly string[];
    readonly resources?: readonly string[];
    readonly clusterScope?: boolean;
    readonly namespaces?: readonly string[];
  }[];
  readonly nonResourceRules?: readonly { readonly verbs?: readonly string[]; readonly nonResourceURLs?: readonly string[] }[];
}

interface Subject {
  readonly kind?: string;
  readonly user?: { readonly name?: string };
  readonly group?: { readonly name?: string };
  readonly serviceAccount?: { readonly namespace?: string; readonly name?: string };
}

const serviceAccountPrefix = 'system:serviceaccount:';

/** True if a flow schema matches a request. Upstream: apiserver/pkg/util/flowcontrol/rule.go. */
export function matchesFlowSchema({ spec }: FlowSchema, user: UserInfo, info: RequestInfo): boolean {
  return (spec?.rules ?? []).some(
    ({ subjects = [], resourceRules = [], nonResourceRules = [] }) =>
      subjects.some((subject) => isSubject(subject, user)) &&
      (info.isResourceRequest
        ? resourceRules.some((rule) => {
            const resource = info.subresource === '' ? info.resource : `${info.resource}/${info.subresource}`;
            return (
              holds(rule.verbs, info.verb) &&
              holds(rule.resources, resource) &&
              holds(rule.apiGroups, info.apiGroup) &&
              (info.namespace === '' ? rule.clusterScope === true : holds(rule.namespaces, info.namespace))
            );
          })
        : nonResourceRules.some((rule) => holds(rule.verbs, info.verb) && holdsPath(rule.nonResourceURLs, info.path))),
  );
}

/** True if the list contains the value or `*`. */
function holds(list: readonly string[] = [], value: string): boolean {
  return (list.length === 1 && list[0] === '*') || list.includes(value);
}

function holdsPath(urls: readonly string[] = [], path: string): boolean {
  return urls.some((url) => {
    if (url === '*' || url === path) return true;
    const prefix = url.replace(/\*$/, '');
    return path.startsWith(prefix.endsWith('/') ? prefix : `${prefix}/`);
  });
}

function isSubject({ kind, user: wanted, group, serviceAccount }: Subject, user: UserInfo): boolean {
  switch (kind) {
    case 'User':
      return wanted?.name === '*' || wanted?.name === user.name;
    case 'Group':
      return group?.name === '*' || (group?.name !== undefined && user.groups.includes(group.name));
    case 'ServiceAccount': {
      const prefix = `${serviceAccountPrefix}${serviceAccount?.namespace}:`;
      return serviceAccount?.name === '*' ? user.name.startsWith(prefix) : user.name === `${prefix}${serviceAccount?.name}`;
    }
    default:
      return false;
  }
}
