// Large values in the browser's database, such as attached files: they survive a reload.

const DATABASE = "sluice";
const STORE = "attached-files";

function open() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

const finish = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

// Best effort: a private window may have no database. The values then last as long as the page.
async function attempt(work, otherwise) {
  try {
    const database = await open();
    try {
      return await work(database);
    } finally {
      database.close();
    }
  } catch {
    return otherwise;
  }
}

export const loadValue = (name, otherwise) => attempt((database) => finish(database.transaction(STORE).objectStore(STORE).get(name)).then((value) => value ?? otherwise), otherwise);

export const storeValue = (name, value) => attempt((database) => finish(database.transaction(STORE, "readwrite").objectStore(STORE).put(value, name)), undefined);
