// Wrong use or a broken input file: printed as a sentence, without a stack trace.
export class UserError extends Error {}
