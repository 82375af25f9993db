// Defines what reconcile/ and fleet/ exchange about last good versions after a restart. Types only.

/**
 * A version that data planes had loaded when they last reported, and that should go on serving: the newest generation of
 * its resource is invalid, paused or has lost a claim, and this operator has not seen the one before. Until its text is
 * known it stays where it is (`DesiredSet.kept`), and no new data plane gets it.
 *
 * `fleet/recover-source.ts` reads the text from a data plane that has loaded `digest` (`GET /api_specs/:id?view=source`)
 * and passes it to `Reconciler.recover(missing, document)`; then the same cache is reconciled again. Values of Secrets
 * can't be read back: recover() takes them from the Secrets as they are now, and the digest shows whether the document
 * was sent with the same versions of them. If not, it can't be recovered.
 */
export interface MissingVersion {
  /** `keyOf` of the ApiSpecification. */
  readonly key: string
  /** Its id; if that is unknown, the state views show which data planes have loaded `digest`. */
  readonly id?: string
  readonly digest: string
  /** The namespace of the resource. */
  readonly namespace: string
}
