// Runs in the worker thread in which the gateway compiles large documents.

import { answerTasks } from '../../compiler/answer-tasks.ts'
import { compileDocument } from '../store/change/validate-document.ts'

answerTasks(compileDocument)
