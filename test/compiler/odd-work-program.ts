import { answerTasks } from '../../compiler/answer-tasks.ts'
import { doAsTold } from './odd-work.ts'

answerTasks(doAsTold)
