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

const commit = (transaction) =>
  new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
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

async function read(database, name) {
  return finish(database.transaction(STORE).objectStore(STORE).get(name));
}

// What was put is there after a reload once the transaction has ended, not before.
async function write(database, name, value) {
  const transaction = database.transaction(STORE, "readwrite");
  transaction.objectStore(STORE).put(value, name);
  return commit(transaction);
}

export const loadValue = async (name, otherwise) => (await attempt((database) => read(database, name), undefined)) ?? otherwise;

export const storeValue = (name, value) => attempt((database) => write(database, name, value), undefined);
