const coordinated = 'controllers elect their leaders among themselves: the server chooses none for them';
const peers = 'servers of one store serve the same versions, so that none sends requests on to another';

/** Flags of kube-apiserver that will never have another value than their default here, with the reason. */
export const refusals: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'cloud-config': 'clouds are the business of their own controllers',
    'cloud-provider': 'clouds are the business of their own controllers',
    'contention-profiling': 'there are no locks to be profiled',
    'coordinated-leadership-lease-duration': coordinated,
    'coordinated-leadership-renew-deadline': coordinated,
    'coordinated-leadership-retry-period': coordinated,
    'debug-socket-path': 'there are no profiles to be read',
    'delete-collection-workers': 'the objects of a collection are deleted together',
    'emulated-version': 'there is one version of the API',
    'emulation-forward-compatible': 'there is one version of the API',
    'enable-garbage-collector': 'finalizers of the garbage collector are always set as clients ask',
    'enable-logs-handler': 'files of the host are not served',
    'etcd-servers-overrides': 'there is one store for all resources',
    'kubelet-read-only-port': 'kubelets are reached by their secure port only',
    'kubelet-timeout': 'kube-apiserver itself makes no use of it',
    'lease-reuse-duration-seconds': 'leases are shared by keys that expire at about the same time',
    'log-flush-frequency': 'the log is written at least once a second',
    'log-json-info-buffer-size': 'the log is one stream',
    'log-json-split-stream': 'the log is one stream',
    'log-text-info-buffer-size': 'the log is JSON lines',
    'log-text-split-stream': 'the log is JSON lines',
    'min-compatibility-version': 'there is one version of the API',
    'peer-advertise-ip': peers,
    'peer-advertise-port': peers,
    'peer-ca-file': peers,
    'runtime-config-emulation-forward-compatible': 'there is one version of the API',
    'service-account-signing-endpoint': 'external signers are not supported: name a key by --service-account-signing-key-file',
    'show-hidden-metrics-for-version': 'no metrics are hidden',
    'tls-curve-preferences': 'the curves are those of the TLS library',
    vmodule: 'the log has one verbosity, --v',
    'watch-cache': 'watches and lists are served by the cache',
  }),
);
