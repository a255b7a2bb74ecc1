/** Names of the command that starts a server. */
export type ServerName = 'kubenest serve' | 'kube-apiserver';
