// Sizes for people.
import { formatNumber } from "../ui/draw.js";

export const formatBytes = (size) => (size < 1024 ? `${formatNumber(size)} B` : size < 1048576 ? `${formatNumber(Math.round(size / 1024))} KB` : `${formatNumber(Math.round(size / 104857.6) / 10)} MB`);
