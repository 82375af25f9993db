// Runs in the worker thread in which the gateway folds large documents for people to read.

import { answerTasks } from '../../compiler/answer-tasks.ts'
import { foldTask } from '../store/fold-loaded.ts'

answerTasks(foldTask)
