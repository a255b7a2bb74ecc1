/**
 * Parts of the server that only the built-in plugins use. Packages cannot import this module, and it promises nothing: what
 * packages may rely on is in index.ts.
 */

export { newGenericServerResponse, RequestTimeoutError, newTooManyRequestsError, statusOf } from '#apimachinery/api/errors';
export { ClusterCredentials } from '#apiserver/controllers/cluster-credentials';
export { NodeCidrRanges } from '#apiserver/controllers/node-cidr-ranges';
export type { TokenCacheMetrics } from '#apiserver/authentication/authentication-metrics';
export { MatchConditionMetrics } from '#apiserver/admission/cel/match-condition-metrics';
export { MatchConditions } from '#apiserver/admission/cel/match-conditions';
export { type PolicyTypes, typeWarnings } from '#apiserver/admission/policy/type-warnings';
export { VisibleObjects } from '#apiserver/admission/policy/invocations';
export { MutatingPolicies } from '#apiserver/admission/policy/mutating-policies';
export { ValidatingPolicies } from '#apiserver/admission/policy/validating-policies';
export type { ReportGroup } from '#apiserver/admission/scan/policy-report';
export { PolicyReports } from '#apiserver/admission/scan/policy-reports';
export type { Verdict, VerdictRecorder } from '#apiserver/admission/scan/verdict';
export { PolicyScan, type ScannedObject, type ScanProgress } from '#apiserver/admission/scan/policy-scan';
export { type ChunkedForms, chunkedFormsOf } from '#apiserver/admission/object-forms';
export { PluginReinvocation } from '#apiserver/admission/plugin-reinvocation';
export { replaceObject } from '#apiserver/admission/replace-object';
export { matchingRules, type NamedRuleWithOperations } from '#apiserver/admission/resource-rules';
export { dialErrorText } from '#apiserver/endpoints/handlers/dial-error';
export { applyJsonPatchSteps, decodeJsonPatchSteps, JsonPatch, jsonKind } from '#apimachinery/patch/json-patch';
export { getOwn, setOwn } from '#apimachinery/patch/own-property';
export { fnv128a, fnv32, fnv32a } from '#apimachinery/runtime/fnv';
export { withoutTrailing } from '#apimachinery/runtime/trailing';
export { inSteps, needsSteps, startSteps, type Steps } from '#apimachinery/runtime/steps';
export { keysOf } from '#apimachinery/runtime/wide-objects';
export { Zone } from '#apimachinery/runtime/schedule-times';
export { base64Problem } from '#apimachinery/runtime/decode';
export { compareUtf8, encodeRawJson, encodeRawJsonSteps, parseJson, parseJsonSteps } from '#apimachinery/runtime/json/json';
export { quoteList } from '#apimachinery/runtime/quote';
export { semanticDeepEqual, semanticDeepEqualSteps } from '#apimachinery/runtime/semantic-equality';
export { parseYaml } from '#apimachinery/runtime/yaml/yaml';
export { readYaml } from '#apiserver/endpoints/yaml/yaml-thread';
export { aggregate as aggregateFieldErrors, aggregateMessages } from '#apimachinery/validation/field';
export { fingerprintOf, parseCertificate } from '#apimachinery/x509/certificate';
export { type CertificateRequest, parsePemCertificateRequest } from '#apimachinery/x509/certificate-request';
export { CertificatePool, parseCertificateBundle } from '#apimachinery/x509/certificate-pool';
export { extendedKeyUsages, verifyCertificate } from '#apimachinery/x509/verify-certificate';
export { checkServerIdentity, trustContext, trustOptions } from '#apiserver/network/trust';
export { type Cidr, formatCIDR, type IpAddress, parseCIDRSloppy, parseIPSloppy } from '#apimachinery/validation/ip';
export { isQualifiedName, isValidLabelValue, isValidPathSegmentName } from '#apimachinery/validation/names';
export { forbiddenBy } from '#apiserver/admission/forbidden';
export { AuthenticationFailedError } from '#apiserver/authentication/union';
export { isAuthorizedForSignerName } from '#apiserver/authorization/signers';
export { type CompiledSelector, compileDeviceSelector, deviceMatches, type DeviceValue, deviceValue } from '#apiserver/cel/device-selector';
export { AuthorizerValue } from '#apiserver/cel/library/authz';
export type { JsonSchema } from '#apiserver/cel/schema';
export { settled, settledAnew } from '#apimachinery/runtime/suspended';
export { checkManifestFolder, type ManifestFiles, readManifestFiles } from '#apiserver/admission/manifest/manifest-files';
export type { ManifestSource } from '#apiserver/admission/manifest/manifests';
export { ServiceResolver } from '#apiserver/network/service-resolver';
export { DialBridge } from '#apiserver/network/egress-selector/dial-bridge';
export type { Dial } from '#apiserver/network/egress-selector/egress-selector';
export { makeFolder } from '#apiserver/base/make-folder';
export { decodePath } from '#apiserver/request/path';
export { endWhenRead } from '#apiserver/serving/end-soon';
export { receiveFrom } from '#apiserver/serving/receive-from';
export { eventJson } from '#apiserver/audit/event';
export { type WebhookClientConfig, type WebhookTarget, webhookTarget } from '#apiserver/network/webhook/client-config';
export { type JsonAnswer, JsonClient, WebhookError } from '#apiserver/network/webhook/json-client';
export {
  noCredentials,
  readKubeconfig,
  readKubeconfigUsers,
  type ServiceConnection,
  type UserCredentials,
} from '#apiserver/network/webhook/kubeconfig';
export { readConfiguration } from '#apiserver/plugins/read-configuration';
export * as protobufMessage from '#apimachinery/runtime/protobuf/message-table';
export { hasUncommonOrder } from '#apiserver/storage/key';
