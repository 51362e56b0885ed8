// Wrong use or a broken input file: told in a sentence, without a stack.
export class Mistake extends Error {}
