/** The error of a control request: its HTTP status and the texts of the body. */
export interface Problem {
  problem: true
  status: number
  error: string
  message: string
}

export function missingField(field: string): Problem {
  return problem(400, 'Missing required field', `${field} is required`)
}

export function invalidField(message: string): Problem {
  return problem(400, 'Invalid field', message)
}

export function invalidQuery(message: string): Problem {
  return problem(400, 'Invalid parameter', message)
}

export function problem(status: number, error: string, message: string): Problem {
  return { problem: true, status, error, message }
}

export function isProblem(value: object): value is Problem {
  return 'problem' in value && value.problem === true
}
