// The page of a problem is written by the Worker; it only lacks the header that all pages have.
import { showShell } from "./shell.js";

showShell("");
