// Defines the compiled form of a response that a document declares (specification §2.6).

import type { Template } from '../expression/template.ts'

/** Absent members fall back as behaviour §5 has it. `declared` is false where the document has none. */
export interface CompiledResponse<T = Template> {
  readonly declared: boolean
  readonly headers?: T
  readonly body?: T
  readonly statusCode?: T
  readonly uri?: T
}

/** How an operation responds to success and to failure of its action. */
export interface CompiledResponses<T = Template> {
  readonly onResult: CompiledResponse<T>
  readonly onError: CompiledResponse<T>
}

/** With what decides whether results must be checked before they are sent. */
export interface CheckedResponses<T = Template> extends CompiledResponses<T> {
  readonly schema?: { readonly isEnforced?: true }
}
