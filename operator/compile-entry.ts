// Is the worker thread in which the operator compiles large documents.

import { answerTasks } from '../compiler/answer-tasks.ts'
import { compileDocument } from './reconcile/documents/compile-document.ts'

answerTasks(compileDocument)
