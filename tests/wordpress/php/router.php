<?php
// For PHP's own web server: a file is served as it is, all else belongs to WordPress.
$path = rawurldecode( explode( '?', $_SERVER['REQUEST_URI'], 2 )[0] );
if ( '/' !== $path && false === strpos( $path, '..' ) && file_exists( $_SERVER['DOCUMENT_ROOT'] . $path ) ) {
	return false;
}
$_SERVER['SCRIPT_NAME']     = '/index.php';
$_SERVER['PHP_SELF']        = '/index.php';
$_SERVER['SCRIPT_FILENAME'] = $_SERVER['DOCUMENT_ROOT'] . '/index.php';
unset( $_SERVER['PATH_INFO'] );
chdir( $_SERVER['DOCUMENT_ROOT'] );
require $_SERVER['SCRIPT_FILENAME'];
