// Defines what the client must know of an API server: its address, and how to authenticate there. Types only.

/** An API server and the way to connect to it. */
export interface Cluster {
  /** @example https://10.96.0.1:443 */
  readonly server: string
  /** The namespace of the pod or of the kubeconfig's context; `default` where neither names one. */
  readonly namespace: string
  /** The service account of the pod that we run in, for commands that are printed; undefined where it is not known. */
  readonly serviceAccount?: string
  /** An HTTP or SOCKS5 proxy between us and the API server. */
  readonly proxyUrl?: string
  /**
   * Files and programs are read again once a minute, or at once where `refused` is what the API server has just
   * rejected. Returns the same object while the credentials are the same.
   * @throws Error in plain words; never with a secret in it
   */
  credentials(refused?: ClusterCredentials): Promise<ClusterCredentials>
}

export interface ClusterCredentials {
  /** Request headers, `authorization` among them. */
  readonly headers: Readonly<Record<string, string>>
  readonly tls: ClusterTls
}

export interface ClusterTls {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
  readonly servername?: string
  readonly rejectUnauthorized?: false
}
